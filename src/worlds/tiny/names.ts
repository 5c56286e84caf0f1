import { TINY_WORLD_SPLITS, type TinyWorldSplit, mix32, permutation } from "./permutation.ts";

/** The kinds of entities in the encyclopedia. */
export const KINDS = ["person", "town", "region", "firm", "work", "event"] as const;

export type Kind = (typeof KINDS)[number];

/** Key of the hash that assigns names to splits; the same for all seeds. */
const DEAL = 0x7a11;

type Pools = { first: readonly string[]; last: readonly string[] };

/** Every word of a name, by kind and position: no word is in two pools, stemmers change none, sizes are multiples of 4, the splits. */
const POOLS: Record<Kind, Pools> = makePools();

/** All distinct words of all names, capitalised. */
export const NAME_WORDS: readonly string[] = KINDS.flatMap((kind) => [
  ...POOLS[kind].first,
  ...POOLS[kind].last,
]);

/** First words of people's names. */
export const FIRST_NAMES: readonly string[] = POOLS.person.first;

/** Bijection of index and name within one kind of one world. */
export interface Namer {
  name(index: number): string;
  /** Up to `limit` other indices whose names start with the same word, in a fixed order; for distractors. */
  alike(index: number, limit: number): number[];
}

/**
 * Names `count` entities: a seeded bijection from indices to the split's names. The last words form rows of four; for each prefix and row a
 * fixed hash distributes the row's words over the four splits. So every word occurs in every split, no name occurs in two, and no simple
 * rule predicts the last words of a first word, which a model would learn for its own split.
 */
export function namer(kind: Kind, split: TinyWorldSplit, count: number, key: number): Namer {
  const { first, last } = POOLS[kind];
  const splits = TINY_WORLD_SPLITS.length;
  const residue = TINY_WORLD_SPLITS.indexOf(split);
  const rows = last.length / splits;
  const middle = count > first.length * rows ? middleWords(kind) : [];
  const middles = Math.max(1, middle.length);
  const order = permutation(first.length * middles * rows, key);
  const words = (code: number): [first: string, middle: string, last: string] => {
    const a = code % first.length;
    const m = Math.floor(code / first.length) % middles;
    const row = Math.floor(code / (first.length * middles));
    const shift = (residue + mix32(mix32(DEAL, a + first.length * m), row)) % splits;
    return [first[a] ?? "", middle[m] ?? "", last[row * splits + shift] ?? ""];
  };
  return {
    name: (index) => {
      const [a, m, b] = words(order.at(index));
      return m === "" ? `${a} ${b}` : `${a} ${m} ${b}`;
    },
    alike: (index, limit) => {
      const code = order.at(index);
      const found: number[] = [];
      // A step of the first pool's size keeps the first word.
      for (let step = 1; step < order.size / first.length && step < 200; step++) {
        if (found.length >= limit) break;
        const other = order.indexOf((code + step * first.length) % order.size);
        if (other < count) found.push(other);
      }
      return found;
    },
  };
}

/** Middle words come from another kind's pools, so that no name contains another. */
function middleWords(kind: Kind): readonly string[] {
  const from = POOLS[kind === "person" ? "town" : "person"];
  return [...from.first, ...from.last];
}

function makePools(): Record<Kind, Pools> {
  const used = new Set<string>();
  const pool = (size: number, heads: string, tails: string): readonly string[] =>
    coin(size, heads.split(" "), tails.split(" "), used);
  return {
    person: {
      first: pool(
        180,
        "Be Bri Ca Cle Da Do Ema Fa Fe Ga Glo Ha Jo Ka Ko Le Lu Ma Mi Na Ne Pa Ri Sa Te Ti Va Ze",
        "rik vin la dan na mir ra lon da von sha bor va",
      ),
      last: pool(
        180,
        "Bran Cral Dor Fal Gris Hol Jar Kel Lun Mor Nor Pel Quil Ros Sten Tor Ulm Vas Wil Yar",
        "dak gard holt kamp lund mak stad vik berg quist stok thorp",
      ),
    },
    town: {
      first: pool(
        92,
        "Alk Bar Dun Fen Gol Har Ist Kor Lim Mar Nes Ost Pol Rud Sil Tam Urd Vel Wen Zar",
        "mona dora gat vika tova bru zola pera",
      ),
      last: pool(
        92,
        "Ask Bur Cro Dra Ebr Fos Gar Hur Ilk Kra Lok Mol Nar Opt Pra Rus Stra Tol Umb Vor",
        "haf strom nau mund toft grad vad lok",
      ),
    },
    region: {
      first: pool(
        44,
        "Ama Beru Cora Deno Fala Geta Hilo Jura Kova Luma Mora",
        "thia dur veth bria tan",
      ),
      last: pool(
        44,
        "Ara Bela Cune Dola Esto Galo Hedo Ivo Kalu Lore Nava",
        "mark vald nesk dorn wold",
      ),
    },
    firm: {
      first: pool(
        60,
        "Ax Bolt Cav Dex Fend Gant Hyd Kron Lum Max Nex Orb",
        "ona iko ula avo eto uma",
      ),
      last: pool(
        60,
        "Am Brin Cog Dyn Erg Flux Grav Jol Kin Lev Mag Nod",
        "tek plex zon trak dax lo",
      ),
    },
    work: {
      first: pool(
        92,
        "Aur Bal Cel Dus Ech Fir Gla Hel Iri Jad Kir Lan Mir Nim Oph Quar Ser Twi Umb Vio",
        "isa ondo elo anza umbra oru",
      ),
      last: pool(
        92,
        "Ab Bil Cad Dim Ev Fad Glim Hav Inv Jun Kan Lav Mem Nub Ord Pav Reb Sol Tav Ven",
        "erna osa alda unta ilo irno",
      ),
    },
    event: {
      first: pool(44, "Ban Cim Dag Fos Gun Hud Juk Lam Mun Pog Rin", "balu deka jito kura muna"),
      last: pool(44, "Bik Chu Dap Fiz Gop Huz Jam Kip Lop Mub Nuz", "panga rola tumbo vash zuma"),
    },
  };
}

/** The first `size` words head + tail (heads vary fastest), without doubled letters and repeated words. */
function coin(
  size: number,
  heads: readonly string[],
  tails: readonly string[],
  used: Set<string>,
): readonly string[] {
  const words: string[] = [];
  for (let round = 0; round < tails.length; round++) {
    for (const [h, head] of heads.entries()) {
      const word = head + (tails[(h * 7 + round) % tails.length] ?? "");
      if (words.length === size || used.has(word) || /(.)\1/i.test(word) || word.length > 8)
        continue;
      used.add(word);
      words.push(word);
    }
  }
  return words;
}
