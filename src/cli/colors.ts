/**
 * Whether `output` gets colors: terminals do, unless they or `NO_COLOR` disable them. `FORCE_COLOR` overrides both, as in Node.js.
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
