import { escapeControls } from "../../base/telemetry/escape-controls.ts";
import type { LoadedConfig } from "../../node/config/config.ts";
import { OPTIONS, SCHEMA } from "../../node/config/schema.ts";
import type { CliContext } from "../context.ts";

/** Prints every setting in force as TOML, with `origin` each line's source behind it. */
export function showConfig(
  { config, origins }: LoadedConfig,
  options: { readonly origin: boolean },
  { stdout }: CliContext,
): void {
  const values = new Map<string, string>();
  for (const [group, settings] of Object.entries(SCHEMA)) {
    for (const [name, option] of Object.entries(settings)) {
      const value = (config[group as keyof typeof SCHEMA] as Record<string, unknown>)[name];
      values.set(option.key, (option.type.print as (value: unknown) => string)(value));
    }
  }
  const lines = OPTIONS.map(({ key }) => `${key} = ${values.get(key)}`);
  const width = Math.min(60, Math.max(...lines.map((line) => line.length)));
  for (const [index, { key }] of OPTIONS.entries()) {
    const line = escapeControls(lines[index]!);
    const origin = options.origin ? `  # ${origins.get(key)!}` : "";
    stdout.write(`${origin ? line.padEnd(width) : line}${origin}\n`);
  }
}
