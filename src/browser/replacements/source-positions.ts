import type * as Replaced from "../../telemetry/source-positions.ts";

/** A browser's own tools apply source maps. */
export const createSourcePositions: typeof Replaced.createSourcePositions = () => (position) =>
  position;
