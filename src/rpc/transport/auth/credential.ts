/** What a good token opens. */
export type Credential = {
  /** Namespaces whose private methods it opens; undefined: all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  /** The claim `sub`: whom the token was made for. */
  readonly subject?: string | undefined;
  /** True from the moment its `exp` has passed: a WebSocket lives longer than the token it was opened with. */
  isExpired(): boolean;
};

/** True when `credential` opens the private methods of `namespace` now. */
export function opens(credential: Credential | undefined, namespace: string): boolean {
  if (credential === undefined || credential.isExpired()) return false;
  return credential.namespaces === undefined || credential.namespaces.has(namespace);
}

/** The credential of callers that need none: a process that can open the IPC socket belongs to the node's owner. */
export const OWNER: Credential = { namespaces: undefined, isExpired: () => false };
