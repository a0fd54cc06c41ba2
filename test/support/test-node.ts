export type TestNode = {
  readonly url: string;
  readonly wsUrl: string;
  readonly home: string;
  produceBlock(): void;
  stop(): Promise<void>;
};
export declare function startTestNode(options: {
  dev?: boolean;
  settings?: Record<string, string>;
}): Promise<TestNode>;
