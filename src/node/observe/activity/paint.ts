/** Terminal colours, or none: the text is the same. */
export type Paint = {
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
};

export function createPaint(hasColor: boolean): Paint {
  const painter = (code: number) => (text: string) => (hasColor ? `\x1b[${code}m${text}\x1b[0m` : text);
  return {
    dim: painter(2),
    bold: painter(1),
    red: painter(31),
    green: painter(32),
    yellow: painter(33),
    cyan: painter(36),
  };
}
