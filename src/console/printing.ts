import { Console } from "node:console";
import { Writable } from "node:stream";
import { inspect } from "node:util";
import { escapeControls, escapeControlsInLines } from "../telemetry/escape-controls.ts";

/** Takes text for the output of the console. */
export type Print = (text: string) => void;

/**
 * Writes to `output`, without control characters but for line feeds and tabs: part of nearly every text is a node's.
 * @param isData what reads the output wants the bytes of a script as they are
 */
export function printerOf(output: NodeJS.WritableStream, isData: boolean): Print {
  return (text) => void output.write(isData ? text : escapeControlsInLines(text));
}

/** The text that the prompt shows for a value; colors only where no text in it could bring its own. */
export function shownValue(value: unknown, colors: boolean): string {
  const options = { showProxy: true };
  const text = inspect(value, options);
  const escaped = escapeControlsInLines(text);
  return colors && escaped === text ? inspect(value, { ...options, colors }) : escaped;
}

/** `console` of scripts and lines. */
export function createScriptConsole(print: Print): Console {
  const stdout = new Writable({
    decodeStrings: false,
    write(text, _encoding, done) {
      print(String(text));
      done();
    },
  });
  return new Console({ stdout });
}

/** True for a name that can be completed: what a node calls a member may hold anything. */
export function isShowable(name: string): boolean {
  return escapeControls(name) === name;
}
