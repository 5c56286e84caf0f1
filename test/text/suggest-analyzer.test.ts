import { describe, expect, it } from "vitest";
import { analyzers } from "../../src/text/analyzer.ts";
import { suggestAnalyzer, TextSample } from "../../src/text/suggest-analyzer.ts";

const TEXTS: Record<string, string> = {
  english:
    "The longest river of the region rises in the hills and reaches the sea near the old town, where many people live and work.",
  german:
    "Der längste Fluss der Region entspringt in den Bergen und mündet bei der alten Stadt ins Meer, wo viele Menschen leben und arbeiten.",
  french:
    "Le plus long fleuve de la région prend sa source dans les collines et se jette dans la mer près de la vieille ville, où vivent beaucoup de gens.",
  spanish:
    "El río más largo de la región nace en las colinas y llega al mar cerca de la ciudad vieja, donde viven y trabajan muchas personas.",
  italian:
    "Il fiume più lungo della regione nasce tra le colline e arriva al mare vicino alla città vecchia, dove vivono e lavorano molte persone.",
  portuguese:
    "O rio mais longo da região nasce nas colinas e chega ao mar perto da cidade velha, onde vivem e trabalham muitas pessoas.",
  dutch:
    "De langste rivier van de streek ontspringt in de heuvels en bereikt de zee bij de oude stad, waar veel mensen wonen en werken.",
  danish:
    "Den længste flod i området udspringer i bakkerne og når havet ved den gamle by, hvor mange mennesker bor og arbejder.",
  swedish:
    "Den längsta floden i området rinner upp bland kullarna och når havet vid den gamla staden, där många människor bor och arbetar.",
  norwegian:
    "Den lengste elven i området har sitt utspring i åsene og når havet ved den gamle byen, hvor mange mennesker bor og arbeider.",
  finnish:
    "Alueen pisin joki saa alkunsa kukkuloilta ja laskee mereen vanhan kaupungin luona, missä monet ihmiset asuvat ja työskentelevät.",
  russian:
    "Самая длинная река области берёт начало в холмах и впадает в море у старого города, где живут и работают многие люди.",
  turkish:
    "Bölgenin en uzun nehri tepelerde doğar ve birçok insanın yaşadığı ve çalıştığı eski şehrin yakınında denize dökülür.",
  arabic:
    "ينبع أطول نهر في المنطقة من التلال ويصب في البحر بالقرب من المدينة القديمة حيث يعيش ويعمل كثير من الناس",
};

/** Enough letters to tell. */
const long = (text: string): string[] => [text, text];

describe("suggestAnalyzer", () => {
  it.each(Object.keys(TEXTS).filter((name) => name !== "english"))(
    "finds %s among texts that are indexed as English",
    (name) => {
      expect(suggestAnalyzer(long(TEXTS[name]!), "english")?.analyzer).toBe(name);
      expect(analyzers.names).toContain(name);
    },
  );

  it.each(Object.keys(TEXTS))("says nothing where %s has its own analyzer, or plain", (name) => {
    expect(suggestAnalyzer(long(TEXTS[name]!), name)).toBeNull();
    expect(suggestAnalyzer(long(TEXTS[name]!), "plain")).toBeNull();
  });

  it("sends other languages with spaces to plain", () => {
    const polish =
      "Najdłuższa rzeka regionu wypływa ze wzgórz i uchodzi do morza w pobliżu starego miasta, gdzie żyje i pracuje wielu ludzi.";
    expect(suggestAnalyzer(long(polish), "english")).toEqual({
      analyzer: "plain",
      found: "the language looks like Polish",
    });
  });

  it("takes a text full of made-up names for English", () => {
    const names =
      "Korgat Optvad is a town in Morathia Ivovald. Its governor is Nesha Norholt. It dates from 1960.";
    expect(suggestAnalyzer([names, names, names], "english")).toBeNull();
  });

  it("finds Chinese, Japanese and Korean in a few characters", () => {
    for (const text of [
      "東京は日本の首都である。",
      "서울은 대한민국의 수도이다",
      "北京是中国的首都",
    ]) {
      expect(suggestAnalyzer([text], "english")?.analyzer).toBe("cjk");
      expect(suggestAnalyzer([text], "plain")?.analyzer).toBe("cjk");
      expect(suggestAnalyzer([text], "cjk")).toBeNull();
    }
  });

  it("leaves Chinese whose words are separated by spaces to plain", () => {
    const words = "北京 是 中国 的 首都 ，".repeat(60);
    expect(suggestAnalyzer([words], "plain")).toBeNull();
  });

  it("says that no analyzer separates the words of Thai", () => {
    expect(
      suggestAnalyzer(["กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย"], "english")?.analyzer,
    ).toBeNull();
  });

  it("says nothing of texts that are too short to tell, or empty", () => {
    expect(suggestAnalyzer(["Der Fluss"], "english")).toBeNull();
    expect(suggestAnalyzer([], "english")).toBeNull();
  });
});

describe("TextSample", () => {
  it("holds texts spread over the whole stream, at most 64", () => {
    const sample = new TextSample();
    for (let i = 0; i < 10_000; i++) sample.add(String(i));
    const numbers = sample.texts.map(Number);
    expect(numbers.length).toBeLessThan(64);
    expect(numbers.length).toBeGreaterThan(30);
    expect(numbers[0]).toBe(0);
    expect(numbers.at(-1)).toBeGreaterThan(9_000);
  });
});
