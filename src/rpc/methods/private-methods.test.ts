import assert from "node:assert/strict";
import { test } from "node:test";
import { createAccessPolicy } from "../transport/dispatch/access.ts";
import { METHODS } from "./methods.ts";

/** What strangers must not call; `docs/adr/0010-authentication.md` says why. */
const PRIVATE = [
  "personal_*",
  "miner_*",
  "admin_*",
  "clique_propose",
  "clique_discard",
  "les_addBalance",
  "les_setClientParams",
  "les_setDefaultParams",
  "db_put*",
  "shh_newIdentity",
  "shh_newGroup",
  "shh_addToGroup",
  "shh_post",
  "evm_*",
  "hardhat_*",
  "anvil_*",
  // Those that write a file, or change the process or the chain.
  "debug_backtraceAt",
  "debug_blockProfile",
  "debug_chaindbCompact",
  "debug_clearTxpool",
  "debug_cpuProfile",
  "debug_freeOSMemory",
  "debug_goTrace",
  "debug_mutexProfile",
  "debug_set*",
  "debug_standardTrace*ToFile",
  "debug_start*",
  "debug_stop*",
  "debug_traceBlockFromFile",
  "debug_verbosity",
  "debug_vmodule",
  "debug_write*",
];

const names = METHODS.map(({ name }) => name);
const { deniedMethods } = createAccessPolicy({ namespaces: [], methods: { allow: ["*"], deny: PRIVATE } }, names);

test("every method that reaches keys, files, peers, the process or the chain is private", () => {
  const open = METHODS.filter(({ name, isPrivate }) => deniedMethods?.has(name) && !isPrivate);
  assert.deepEqual(
    open.map(({ name }) => name),
    [],
  );
});

test("the methods a wallet or a contract needs are not private", () => {
  const closed = METHODS.filter(({ name, isPrivate }) => /^(eth|net|web3)_/.test(name) && isPrivate);
  assert.deepEqual(
    closed.map(({ name }) => name),
    [],
  );
});
