import { SharedSlices } from "../../../threads/shared-slices.ts";

/** What the methods write that show whole blocks or pools, for all callers of this thread together. */
export const jsonSlices = new SharedSlices();
