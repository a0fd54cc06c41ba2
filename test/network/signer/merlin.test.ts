import assert from "node:assert/strict";
import { test } from "node:test";
import { Transcript } from "./merlin.ts";

test("Transcript gives the challenge of Merlin's own test vector", () => {
  const transcript = new Transcript("test protocol");
  transcript.append("some label", Buffer.from("some data"));
  const challenge = Buffer.from(transcript.challenge("challenge", 32)).toString("hex");
  assert.equal(challenge, "d5a21972d0d5fe320c0d263fac7fffb8145aa640af6e9bca177c03c7efcf0615");
});
