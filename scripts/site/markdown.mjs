import { Marked } from "marked";
import { escapeHtml } from "./escape.mjs";
import { highlight } from "./highlight.mjs";

/**
 * A file of Markdown as a page.
 *
 * @param text of the file
 * @param linkOf makes the URL of a relative link; undefined: it leads out of the site, and only its text is shown
 * @returns `html`, `title`, `headings` for a list of contents, and `sections` for the search: the text below each heading and
 *   of each row of a table that begins with a name
 */
export function renderMarkdown(text, linkOf) {
  const headings = [];
  const sections = [];
  const ids = new Set();
  const idOf = (name) => {
    const slug = slugOf(name);
    let id = slug;
    for (let i = 1; ids.has(id); i++) id = `${slug}-${i}`;
    ids.add(id);
    return id;
  };
  const add = (content) => sections.at(-1)?.texts.push(content);
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const name = plainText(html);
        const id = idOf(name);
        headings.push({ depth, id, name });
        sections.push({ id: depth === 1 ? "" : id, title: name, texts: [] });
        return `<h${depth} id="${id}">${html} <a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(name)}">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const html = this.parser.parseInline(tokens);
        if (/^https?:/.test(href)) return `<a href="${escapeHtml(href)}" rel="noreferrer">${html}</a>`;
        const url = linkOf(href);
        return url === undefined ? html : `<a href="${url}">${html}</a>`;
      },
      code({ text: code, lang }) {
        const [language = "", mark = ""] = (lang ?? "").split(" ");
        const caption = captionOf(mark);
        if (lang === "playground") {
          return `<div id="playground" class="playground"><p>${escapeHtml(code)}</p></div>\n`;
        }
        // Answers of nodes are numbers that nobody searches for.
        if (!EXAMPLES.has(mark)) add(code);
        const kind = mark === "request" ? "code request" : "code";
        return `<figure class="${kind}">${caption}<pre tabindex="0"><code>${highlight(code, language)}</code></pre></figure>\n`;
      },
      table({ header, rows }) {
        const inline = ({ tokens }) => this.parser.parseInline(tokens);
        const heads = header.map(inline);
        // Small screens show a row as a list, each cell with its label.
        const labels = heads.map((head) => (head === "" ? "" : ` data-label="${escapeHtml(plainText(head))}"`));
        const body = rows.map((row) => {
          const cells = row.map(inline);
          const tds = cells.map((cell, i) => `<td${labels[i]}>${cell}</td>`);
          const name = /^<code>([\w.*-]+)<\/code>$/.exec(cells[0])?.[1];
          const content = plainText(cells.slice(1).join(" "));
          if (name === undefined) {
            add(plainText(cells.join(" ")));
            return `<tr>${tds.join("")}</tr>`;
          }
          const id = idOf(name);
          const parent = sections.at(-1);
          sections.push({ id, title: name, texts: [content] }, { ...parent, texts: [] });
          return `<tr id="${id}">${tds.join("")}</tr>`;
        });
        return `<div class="table" tabindex="0"><table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join("")}</tr></thead><tbody>${body.join("\n")}</tbody></table></div>\n`;
      },
      paragraph({ tokens }) {
        const html = this.parser.parseInline(tokens);
        add(plainText(html));
        return `<p>${html}</p>\n`;
      },
      listitem({ tokens }) {
        const html = this.parser.parse(tokens);
        add(plainText(html));
        return `<li>${html}</li>\n`;
      },
      html: ({ text: raw }) => escapeHtml(raw),
    },
  });
  const html = marked.parse(text);
  return {
    html,
    headings,
    title: headings.find(({ depth }) => depth === 1)?.name ?? "",
    sections: sections
      .map(({ id, title, texts }) => ({ id, title, text: texts.join(" ").replace(/\s+/g, " ") }))
      .filter(
        ({ text: content, title }, i, all) => content !== "" || all.findIndex((each) => each.title === title) === i,
      ),
  };
}

/** What fences of recorded examples say after their language. */
const EXAMPLES = new Set(["request", "answer", "notification"]);

/** Above a block: the file that it is, or what part of an example. */
function captionOf(mark) {
  if (EXAMPLES.has(mark)) return `<figcaption>${mark.charAt(0).toUpperCase()}${mark.slice(1)}</figcaption>`;
  return mark.startsWith("file=") ? `<figcaption>${escapeHtml(mark.slice("file=".length))}</figcaption>` : "";
}

/** The anchor of a heading, as GitHub makes it. */
function slugOf(name) {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_.-]/gu, "")
    .replace(/\./g, name.includes(" ") ? "" : ".")
    .trim()
    .replace(/\s/g, "-");
}

/** What a browser shows of `html`. */
function plainText(html) {
  const entities = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return html.replace(/<[^>]*>/g, "").replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name]);
}
