/** Tags that are set apart where a protocol writes them. */
export const PROTOCOL_TAGS = [
  ...["think", "search", "information", "answer", "tool_call", "tool_response"],
];
