import { options, type VNode } from "preact";
import { escapeControlsInLines } from "../../../base/telemetry/escape-controls.ts";

/** Attributes whose text is shown or read aloud. */
const SHOWN_ATTRIBUTES = ["title", "aria-label", "placeholder"] as const;

/**
 * Escapes control characters in every drawn text: a token's symbol, a peer's name or a revert's text could reorder the digits beside it. Done in
 * the renderer, so that no page can forget it.
 */
export function escapeTexts(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    escapeVNode(vnode);
    before?.(vnode);
  };
}

/** A vnode of type null is a text; element vnodes have attributes. */
export function escapeVNode(vnode: VNode): void {
  const node = vnode as { type: unknown; props: unknown };
  if (node.type === null) {
    if (typeof node.props === "string") node.props = escapeControlsInLines(node.props);
    return;
  }
  if (typeof node.type !== "string") return;
  const props = node.props as Record<string, unknown>;
  for (const name of SHOWN_ATTRIBUTES) {
    if (typeof props[name] === "string") props[name] = escapeControlsInLines(props[name]);
  }
}
