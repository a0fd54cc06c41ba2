/** Loaded before a program (`PATIENT_TIMERS` of patient.ts): what gives up after some seconds gives up when only a hang is left. */
const LONG_MS = 5_000;
const HANG_MS = 300_000;

const { setTimeout: timer } = globalThis;
const patientTimer = (run, ms, ...args) => timer(run, ms >= LONG_MS ? Math.max(ms, HANG_MS) : ms, ...args);
globalThis.setTimeout = Object.defineProperties(patientTimer, Object.getOwnPropertyDescriptors(timer));
