/** The members of Node's `process` that modules of the node read. There is one process as far as they can see. */
export const process = {
  platform: "browser",
  pid: 0,
  env: {},
  arch: "wasm",
  argv: [],
  execArgv: [],
  versions: {},
} as const;
