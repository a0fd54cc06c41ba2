/** Colours of code, decided when the pages are built: spans with a class each, which style.css gives a colour in light and dark. */
import { escapeHtml } from "./escape.mjs";

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/;
const NUMBER = /\b(?:0x[0-9a-fA-F]+|\d[\d_]*(?:\.\d+)?)n?\b/;
const KEYWORDS =
  /\b(?:as|async|await|break|case|catch|class|const|contract|emit|else|event|export|extends|external|finally|for|from|function|if|import|in|indexed|interface|let|mapping|memory|new|of|pragma|private|public|pure|require|return|returns|solidity|static|struct|switch|throw|true|false|null|try|type|undefined|using|view|while)\b/;

/** Patterns of a language by class, in order: the first that matches at a place counts. */
const LANGUAGES = {
  js: [
    ["c", /\/\/[^\n]*|\/\*[\s\S]*?\*\//],
    ["s", STRING],
    ["n", NUMBER],
    ["k", KEYWORDS],
  ],
  json: [
    ["a", /"(?:[^"\\\n]|\\.)*"(?=\s*:)/],
    ["s", /"(?:[^"\\\n]|\\.)*"/],
    ["n", /-?\b\d+(?:\.\d+)?\b/],
    ["k", /\b(?:true|false|null)\b/],
  ],
  sh: [
    ["c", /(?:^|(?<=\s))#[^\n]*/],
    ["s", STRING],
    ["a", /(?:^|(?<=\s))--?[a-zA-Z][\w.-]*/],
    ["k", /(?:^|(?<=\n)|(?<=[|;&]\s))\s*(?:[A-Z_]+=\S*\s+)*[a-z][\w.-]*/],
  ],
  toml: [
    ["c", /#[^\n]*/],
    ["k", /^\s*\[[^\]\n]*\]/m],
    ["s", STRING],
    ["a", /^[\w.-]+(?=\s*[=:])/m],
    ["n", NUMBER],
    ["k", /\b(?:true|false)\b/],
  ],
};

const NAMES = {
  bash: "sh",
  javascript: "js",
  py: "toml",
  python: "js",
  shell: "sh",
  solidity: "js",
  ts: "js",
  yaml: "toml",
};

/** Highlighted HTML of `code`. @param lang of the fence; a guess where it names none */
export function highlight(code, lang = "") {
  const name = NAMES[lang] ?? (lang in LANGUAGES ? lang : guessed(code));
  const rules = LANGUAGES[name];
  if (rules === undefined) return escapeHtml(code);
  const any = new RegExp(rules.map(([, { source }]) => `(${source})`).join("|"), "gm");
  let html = "";
  let end = 0;
  for (const match of code.matchAll(any)) {
    const index = match.slice(1).findIndex((group) => group !== undefined);
    html += `${escapeHtml(code.slice(end, match.index))}<span class="${rules[index][0]}">${escapeHtml(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(end));
}

/** Commands are what most blocks without a language hold; text that is none stays plain. */
function guessed(code) {
  if (/^\s*[[{]/.test(code)) return "json";
  if (/^(?:import|const|await|using)\b/m.test(code)) return "js";
  if (/^(?:evmintd|npm|npx|node|curl|docker|sudo|cast|forge|git|cp|TOKEN=)/m.test(code)) return "sh";
  return undefined;
}
