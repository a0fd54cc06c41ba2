import { recordMethod, startMethod, stopMethod } from "./profile-methods.ts";

/** `debug_cpuProfile`: where CPU time goes for some seconds, as DevTools' `.cpuprofile`. */
export const cpuProfile = recordMethod("debug_cpuProfile", "cpu");

/** `debug_startCPUProfile`: the same, until `debug_stopCPUProfile`. */
export const startCpuProfile = startMethod("debug_startCPUProfile", "cpu");

/** `debug_stopCPUProfile`: ends it and writes the file. */
export const stopCpuProfile = stopMethod("debug_stopCPUProfile", "cpu");
