import type { Config } from "../../config/config.ts";
import { escapeControls } from "../../telemetry/escape-controls.ts";
import type { CliContext } from "../context.ts";
import { CHECKS } from "../doctor/checks.ts";
import { type System, thisSystem } from "../doctor/system.ts";
import { CommandError } from "../errors.ts";

/** Prints what is well, what is wrong and what to do about it. @throws CommandError for faults */
export function doctor(
  config: Config,
  { stdout, now }: Pick<CliContext, "stdout" | "now">,
  system: System = thisSystem(),
): void {
  const findings = CHECKS.flatMap((check) => check(config, system, now));
  for (const { level, subject, text } of findings) {
    // Paths, and names of other programs.
    stdout.write(`${level.padEnd(8)} ${subject.padEnd(10)} ${escapeControls(text)}\n`);
  }
  const faults = findings.filter(({ level }) => level === "fault").length;
  if (faults > 0) throw new CommandError(`faults found: ${faults}`);
}
