export interface GgufVocabulary {
  tokens: readonly string[];
  /** Of each token: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte. */
  types: readonly number[];
  beginId: number | null;
  endId: number | null;
  /** Further ids that end a completion. */
  otherEndIds: readonly number[];
  unknownId: number | null;
  padId: number | null;
  /** Whether BOS is put before a text; null: not said. */
  addsBegin: boolean | null;
}
