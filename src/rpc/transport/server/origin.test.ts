import assert from "node:assert/strict";
import { test } from "node:test";
import { hostName, isForeignLoad, isHostAllowed, isOrigin, isOriginAllowed } from "./origin.ts";

test("a page of the listener itself may call, under the name by which the request came", () => {
  assert.equal(isOriginAllowed("http://node.example:8545", "node.example:8545", []), true);
  assert.equal(isOriginAllowed("https://NODE.example", "node.EXAMPLE", []), true);
  assert.equal(isOriginAllowed("http://node.example:1", "node.example:8545", []), false);
});

test("without a Host header no origin is the listener's own", () => {
  for (const origin of ["http://undefined", "https://undefined", "http://UNDEFINED", "http://"]) {
    assert.equal(isOriginAllowed(origin, undefined, []), false, origin);
  }
});

const SHELL = ["$(id)", "`id`", ";id", "a b", "a'b", 'a"b', "a|b", "a&b", "a\\b", "a>b", "*", "-x"];

test("no text with a meaning for a shell is a host name, an origin, or allowed", () => {
  for (const text of SHELL) {
    assert.equal(hostName(text), undefined, text);
    assert.equal(hostName(`x${text}:1`)?.includes(text) ?? false, text === "-x", text);
    assert.equal(isHostAllowed(`x${text}`, ["localhost"]), false);
    if (text === "-x") continue;
    assert.equal(isOrigin(`http://${text}`), false, text);
    assert.equal(isOrigin(`http://x${text}`), false, text);
  }
});

test("what browsers send is an origin, and what clients send has a host name", () => {
  for (const origin of [
    "http://localhost:3000",
    "https://app.example",
    "http://[::1]:8080",
    "http://1.2.3.4",
    "chrome-extension://abcdefghij",
    "moz-extension://1a2b-3c4d",
    "tauri://localhost",
  ]) {
    assert.equal(isOrigin(origin), true, origin);
  }
  assert.equal(hostName("Node_1.example:8545"), "node_1.example");
  assert.equal(hostName("[::1]:8545"), undefined);
});

test("isForeignLoad tells images, scripts and frames of other pages from links, from pages of the listener and from programs", () => {
  const of = (site?: string, mode?: string, dest?: string, origin?: string) =>
    isForeignLoad({
      ...(site && { "sec-fetch-site": site }),
      ...(mode && { "sec-fetch-mode": mode }),
      ...(dest && { "sec-fetch-dest": dest }),
      ...(origin && { origin }),
    });
  for (const site of ["cross-site", "same-site"]) {
    assert.equal(of(site, "no-cors", "image"), true);
    assert.equal(of(site, "no-cors", "script"), true);
    assert.equal(of(site, "no-cors", "empty"), true);
    assert.equal(of(site), true);
    for (const frame of ["iframe", "frame", "embed", "object"]) assert.equal(of(site, "navigate", frame), true, frame);
    assert.equal(of(site, "navigate", "document"), false);
    // Its Origin decides.
    assert.equal(of(site, "cors", "empty", "http://localhost:3000"), false);
  }
  assert.equal(of("same-origin", "cors", "empty"), false);
  assert.equal(of("none", "navigate", "document"), false);
  assert.equal(of(undefined, "cors"), false);
});
