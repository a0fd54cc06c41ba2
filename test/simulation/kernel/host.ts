/** The real process in which simulations run: its input, its output, its clock. Nothing in a simulation sees them. */
import { createInterface } from "node:readline";

/** Calls `onLine` with each line of the standard input, in a separate event; ends the process with the input. */
export function onEachLine(onLine: (line: string) => void): void {
  const lines = createInterface({ input: globalThis.process.stdin });
  // Simulations must not run in a microtask.
  lines.on("line", (line) => globalThis.setImmediate(() => onLine(line)));
  lines.on("close", () => globalThis.setImmediate(() => globalThis.process.exit(0)));
}

export function writeLine(text: string): void {
  globalThis.process.stdout.write(`${text}\n`);
}

/** Milliseconds that this process has computed. */
export function cpuMs(): number {
  const { user, system } = globalThis.process.cpuUsage();
  return (user + system) / 1_000;
}

export function heapBytes(): number {
  return globalThis.process.memoryUsage().heapUsed;
}
