/** Trainers that recipes can be exported to, with the release that the export is made for. Help reads it without loading the rules. */
export const TRAINERS = { verl: "0.9.1", skyrl: "0.4.0", trl: "1.16.0" } as const;
