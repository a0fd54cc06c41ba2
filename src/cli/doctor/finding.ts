/** What a check found. */
export type Finding = {
  readonly level: "ok" | "warning" | "fault";
  /** What was looked at. */
  readonly subject: string;
  /** What is so; for warnings and faults also what to do. */
  readonly text: string;
};
