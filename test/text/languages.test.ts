import { describe, expect, it } from "vitest";
import { analyzers } from "../../src/text/analyzer.ts";
import { foldAccents } from "../../src/text/fold.ts";
import { languages } from "../../src/text/languages.ts";

const terms = (analyzer: string, text: string): string =>
  analyzers.get(analyzer, "test").analyze(text).join(" ");

describe("language analyzers", () => {
  it.each([
    ["arabic", "الكتاب والكتب المدرسة", "كتاب والكتب مدرس"],
    ["danish", "Bøgerne og bogen på øen i Århus", "bøg bog øen århus"],
    ["dutch", "De huizen en het huis van één reünie", "huiz huis een reunie"],
    ["finnish", "Kirjat ja kirjassa Jyväskylässä", "kirj kirj jyväskyl"],
    ["french", "L’élève qu'il était à l'école des élèves", "elev ecol elev"],
    ["german", "Die Bücher des Straßenbahners über Zürich", "buch strassenbahn zurich"],
    ["italian", "Dell'acqua nelle città più belle", "acqua citt bell"],
    ["norwegian", "Bøkene og boka på øya i Ålesund", "bøk bok øya ålesund"],
    ["portuguese", "As ações da ação não são coração", "aco aca coraca"],
    ["russian", "Ёлки и ёлка: книги, книгами", "елк елк книг книг"],
    ["spanish", "Los niños y el año: canción, canciones", "niñ año cancion cancion"],
    ["swedish", "Böckerna och boken på bordet i Åre", "böck bok bordet åre"],
    ["turkish", "kitaplar, kitaplarımız", "kitap kitap"],
  ])("%s drops stop words, stems, then drops accents", (analyzer, text, expected) => {
    expect(terms(analyzer, text)).toBe(expected);
  });

  it("has one analyzer per language, each saying its stop words and stemmer", () => {
    expect(languages.map(({ options }) => `${options.stemmer!} ${options.stopWords!}`)).toEqual([
      "snowball-2.2-arabic none",
      "snowball-2.2-danish orama-3.1.18-danish",
      "snowball-2.2-dutch orama-3.1.18-dutch",
      "snowball-2.2-finnish orama-3.1.18-finnish",
      "snowball-2.2-french orama-3.1.18-french",
      "snowball-2.2-german orama-3.1.18-german",
      "snowball-2.2-italian orama-3.1.18-italian",
      "snowball-2.2-norwegian orama-3.1.18-norwegian",
      "snowball-2.2-portuguese orama-3.1.18-portuguese",
      "snowball-2.2-russian orama-3.1.18-russian",
      "snowball-2.2-spanish agentrl-spanish-75",
      "snowball-2.2-swedish orama-3.1.18-swedish",
      "snowball-2.2-turkish none",
    ]);
  });

  it("reads Turkish capitals: I is ı, İ is i, in one part or two", () => {
    expect(terms("turkish", "DİYARBAKIR I\u0307zmir")).toBe("diyarbakır izmir");
    expect(terms("german", "DİYARBAKIR")).toBe("diyarbakir");
  });

  it("reads accents in one part or two, and words with soft hyphens, alike", () => {
    expect(terms("french", "e\u0301le\u0300ve")).toBe(terms("french", "élève"));
    expect(terms("german", "Bü\u00adcher")).toBe("buch");
  });
});

describe("cjk analyzer", () => {
  it("gives pairs of neighbouring characters, and single ones where they stand alone", () => {
    expect(terms("cjk", "東京大学 in Tokyo, 東")).toBe("東京 京大 大学 in tokyo 東");
  });

  it("parts scripts without spaces from words between them", () => {
    expect(terms("cjk", "iPhone手机abc2café")).toBe("iphone 手机 abc2cafe");
  });

  it("keeps voiced kana, long vowels, half-width kana and Hangul syllables whole", () => {
    expect(terms("cjk", "ガラス ｶﾞﾗｽ コーヒー 한국어")).toBe(
      "ガラ ラス ガラ ラス コー ーヒ ヒー 한국 국어",
    );
  });

  it("takes characters beyond 16 bits whole", () => {
    expect(terms("cjk", "𠀀𠀁𠀂")).toBe("𠀀𠀁 𠀁𠀂");
  });

  it("keeps every pair of a text without spaces, however long", () => {
    expect(analyzers.get("cjk", "test").analyze("東".repeat(1000))).toHaveLength(999);
  });
});

describe("foldAccents", () => {
  it("drops marks but on the letters that are kept", () => {
    expect(foldAccents("smörgåsbord à la crème", "åäö")).toBe("smörgåsbord a la creme");
    expect(foldAccents("ｶ゛が한ß")).toBe("ｶ゛が한ß");
  });
});
