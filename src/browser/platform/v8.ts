/** `node:v8`: a page cannot set flags of its engine, and code works without them. */
export function setFlagsFromString(_flags: string): void {}
