/** A text in a source that is replaced once: a deliberate fault. */
export type Patch = { readonly file: string; readonly from: string; readonly to: string };

export function buildSimulation(options: {
  /** The package. */
  readonly root: string;
  readonly outfile: string;
  readonly patches?: readonly Patch[];
}): Promise<void>;
