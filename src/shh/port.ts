import type { MaybePromise } from "../threads/maybe-promise.ts";
import type { Identity } from "./message.ts";
import type { MessageCriteria } from "./message-filters.ts";
import type { Post, WhisperMessage } from "./whisper.ts";

/** Whisper, as `Whisper` has it. Plain data only. */
export interface ShhPort {
  newIdentity(): MaybePromise<Identity>;
  hasIdentity(identity: Identity): MaybePromise<boolean>;
  /** @throws UnknownIdentityError, WhisperLimitError */
  post(post: Post): Promise<boolean>;
  /** @throws UnknownIdentityError, WhisperLimitError */
  newGroup(from: Identity | undefined, members: readonly Uint8Array[]): Promise<Identity>;
  /** @throws WhisperLimitError */
  addToGroup(group: Identity | undefined, who: Uint8Array): Promise<boolean>;
  /** @throws WhisperLimitError */
  newMessageFilter(criteria: MessageCriteria): MaybePromise<string>;
  uninstallMessageFilter(id: string): MaybePromise<boolean>;
  messageFilterChanges(id: string): MaybePromise<readonly WhisperMessage[]>;
  messages(id: string): MaybePromise<readonly WhisperMessage[]>;
}
