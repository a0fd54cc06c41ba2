import type { Config } from "../../node/config/config.ts";
import type { System } from "./system.ts";

/** What a check found. */
export type Finding = {
  readonly level: "ok" | "warning" | "fault";
  /** What was looked at. */
  readonly subject: string;
  /** What is so; for warnings and faults also what to do. */
  readonly text: string;
};

/** A look at one thing of a home and its machine; nothing is changed. */
export type Check = (config: Config, system: System, now: () => number) => Finding[];

/** A share of the findings about one subject. */
export function findingsOf(subject: string) {
  const of = (level: Finding["level"]) => (text: string) => ({ level, subject, text }) as const;
  return { ok: of("ok"), warning: of("warning"), fault: of("fault") };
}
