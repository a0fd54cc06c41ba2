import { SharedSlices } from "../../threads/shared-slices.ts";

/** What all callers of this thread together hash in one turn. */
export const hashSlices = new SharedSlices();
