/** The filters that jinja2 has, supported here or not: for the test `filter`, and to tell an unknown filter from an unsupported one. */
export const FILTER_NAMES: readonly string[] = [
  ...["abs", "attr", "batch", "capitalize", "center", "count", "d", "default", "dictsort", "e"],
  ...["escape", "filesizeformat", "first", "float", "forceescape", "format", "groupby", "indent"],
  ...["int", "items", "join", "last", "length", "list", "lower", "map", "max", "min", "pprint"],
  ...["random", "reject", "rejectattr", "replace", "reverse", "round", "safe", "select"],
  ...["selectattr", "slice", "sort", "string", "striptags", "sum", "title", "tojson", "trim"],
  ...["truncate", "unique", "upper", "urlencode", "urlize", "wordcount", "wordwrap", "xmlattr"],
];
