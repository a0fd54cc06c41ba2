import { serveThread } from "../../threads/serve-thread.ts";
import { lowerThreadPriority } from "../../threads/thread-priority.ts";
import { recoverAuthorities } from "./sender.ts";

/** Strangers choose how many there are to recover; those who wait for anything else come first. */
const NICE = 15;

lowerThreadPriority(NICE);

const authorityRecovery = { recoverAuthorities };
export type AuthorityRecoveryThreadHandlers = typeof authorityRecovery;
serveThread(authorityRecovery);
