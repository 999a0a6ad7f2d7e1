// Keys by what is printed on them in Latin letters, since the page names them so in all languages.

/** The key of an event: also with an Arabic layout, "t" for the key that says T in a Latin one, and
 *  with a French one, whose digits need Shift, "1" for the key that says & and 1. */
export function latinKey({ key, code = "", shiftKey = false }) {
  const digit = /^Digit([0-9])$/.exec(code);
  if (digit && !shiftKey) return digit[1];
  if (/^[\x20-\x7e]+$/.test(key)) return key;
  const found = /^(?:Key([A-Z])|(?:Digit|Numpad)([0-9]))$/.exec(code);
  return found ? (found[1]?.toLowerCase() ?? found[2]) : key;
}
