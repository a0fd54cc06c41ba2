import { serveThread } from "../../threads/serve-thread.ts";
import { lowerThreadPriority } from "../../threads/thread-priority.ts";
import { recoverAuthorities } from "./sender.ts";

/** Strangers control the amount of work, so all other threads come first. */
const NICE = 15;

lowerThreadPriority(NICE);

const authorityRecovery = { recoverAuthorities };
export type AuthorityRecoveryThreadHandlers = typeof authorityRecovery;
serveThread(authorityRecovery);
