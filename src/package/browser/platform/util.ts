/** The part of `node:util` that this node uses. */
export function promisify(call: (...args: never[]) => void) {
  return (...args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const done = (error: unknown, result: unknown) => (error ? reject(error) : resolve(result));
      call(...([...args, done] as never[]));
    });
}

/** Replaces `%s`, `%d`, `%i`, `%f`, `%j`, `%o`, `%O` and `%%` in the first value; further values follow after spaces. */
export function format(template: unknown, ...values: readonly unknown[]): string {
  if (typeof template !== "string") return [template, ...values].map(shown).join(" ");
  const rest = [...values];
  const text = template.replace(/%[sdifjoO%]/g, (specifier) => {
    if (specifier === "%%") return "%";
    if (rest.length === 0) return specifier;
    const value = rest.shift();
    if (specifier === "%i" && typeof value !== "bigint") return `${Number.parseInt(String(value), 10)}`;
    if (specifier === "%j") return JSON.stringify(value);
    if (/[dif]/.test(specifier)) return typeof value === "bigint" ? `${value}n` : `${Number(value)}`;
    return shown(value);
  });
  return [text, ...rest.map(shown)].join(" ");
}

function shown(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "string" ? value : inspect(value);
}

/** A value of plain objects and lists as multi-line text, one member per line. */
export function inspect(value: unknown, _options?: object): string {
  return inspectAt(value, "");
}

function inspectAt(value: unknown, indent: string): string {
  if (typeof value === "string") return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null) return String(value);
  const isList = Array.isArray(value);
  const deeper = `${indent}  `;
  const members = Object.entries(value).map(
    ([name, member]) => `${deeper}${isList ? "" : `${name}: `}${inspectAt(member, deeper)}`,
  );
  const [open, close] = isList ? "[]" : "{}";
  return members.length === 0 ? `${open}${close}` : `${open}\n${members.join(",\n")}\n${indent}${close}`;
}
