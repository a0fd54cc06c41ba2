import assert from "node:assert/strict";
import { test } from "node:test";
import { PassphraseTries } from "./passphrases.ts";

class Wrong extends Error {}
const isWrong = (error: unknown) => error instanceof Wrong;

test("PassphraseTries lets through five wrong tries a minute and account, and counts no right ones", async () => {
  let now = 0;
  let refused = 0;
  const tries = new PassphraseTries(5, { now: () => now, onRejected: () => refused++ });
  let tried = 0;
  const guess = (subject = "a") =>
    tries.run(
      subject,
      async () => {
        tried++;
        throw new Wrong();
      },
      isWrong,
    );
  for (let i = 0; i < 20; i++) await tries.run("a", async () => "right", isWrong);
  for (let i = 0; i < 5; i++) await assert.rejects(guess(), Wrong);
  for (let i = 0; i < 95; i++) await assert.rejects(guess(), { code: "KEY_TOO_MANY_TRIES" });
  assert.deepEqual([tried, refused], [5, 95]);
  // The right one is not tried either.
  await assert.rejects(
    tries.run("a", async () => "right", isWrong),
    { code: "KEY_TOO_MANY_TRIES", details: { waitS: 60 } },
  );
  await assert.rejects(guess("b"), Wrong);
  now = 60_000;
  assert.equal(await tries.run("a", async () => "right", isWrong), "right");
});

test("PassphraseTries counts tries under way, and gives them back when they were right or failed otherwise", async () => {
  const tries = new PassphraseTries(2);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = tries.run("a", () => held, isWrong);
  const second = tries.run("a", () => held, isWrong);
  await assert.rejects(
    tries.run("a", async () => {}, isWrong),
    { code: "KEY_TOO_MANY_TRIES" },
  );
  release();
  await Promise.all([first, second]);
  for (let i = 0; i < 9; i++) {
    await assert.rejects(
      tries.run("a", () => Promise.reject(new TypeError()), isWrong),
      TypeError,
    );
  }
});
