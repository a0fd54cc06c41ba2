#!/usr/bin/env node
// `evmintd anvil` as one word, for programs that take the path of a binary in place of anvil.
process.argv.splice(2, 0, "anvil");
require("./evmintd.js");
