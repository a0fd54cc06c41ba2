import * as fc from "./seeded-properties.ts";

export default fc;
export type * from "fast-check";
