import { recordMethod, startMethod, stopMethod } from "./profile-methods.ts";

/** `debug_goTrace`: what Node and V8 do for some seconds, in Chrome's trace event format. */
export const goTrace = recordMethod("debug_goTrace", "trace");

/** `debug_startGoTrace`: the same, until `debug_stopGoTrace`. */
export const startGoTrace = startMethod("debug_startGoTrace", "trace");

/** `debug_stopGoTrace`: ends it and writes the file. */
export const stopGoTrace = stopMethod("debug_stopGoTrace", "trace");
