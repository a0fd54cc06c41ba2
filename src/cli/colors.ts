/**
 * Whether `output` gets colours: a terminal does, unless it or its user has none. `FORCE_COLOR` decides by itself, as in Node.js.
 * @see https://no-color.org, https://force-color.org
 */
export function hasColors(
  output: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: none, TERM: terminal } = environment;
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return output.isTTY === true && !none && terminal !== "dumb";
}
