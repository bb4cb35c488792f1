/** Reads that the page makes at the same moment travel as one request: `POST /batch`. Each is answered as soon as it is there. */

/** The most that the server takes in one batch. */
const MAX_READS = 64;
/** A server that knows no batches (an older one beside the new one) is asked for each read alone. */
const UNKNOWN: ReadonlySet<number> = new Set([404, 405]);
const HEAD = /^\{"index":(\d+),"status":(\d+),"body":/;

interface Read {
  readonly address: string;
  readonly request: Request;
  readonly resolve: (answer: Response | Promise<Response>) => void;
  readonly reject: (reason: unknown) => void;
}

interface Coming {
  readonly promise: Promise<Response>;
  readonly resolve: (answer: Response) => void;
  readonly reject: (reason: unknown) => void;
}

/** Sends a request; only the client calls fetch. */
type Ask = (request: Request) => Promise<Response>;

let waiting: Read[] = [];

/** Return the answer to a read, which may travel with others. Rejects with TypeError if the server cannot be reached. */
export function fetchBatched(base: string, request: Request, ask: Ask): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  return new Promise((resolve, reject) => {
    waiting.push({ address: pathname.slice(base.length) + search, request, resolve, reject });
    if (waiting.length === 1) {
      setTimeout(() => {
        const reads = waiting.filter((read) => !isGone(read));
        waiting = [];
        for (let at = 0; at < reads.length; at += MAX_READS) {
          send(base, reads.slice(at, at + MAX_READS), ask);
        }
      });
    }
  });
}

function isGone({ request, reject }: Read): boolean {
  if (request.signal.aborted) {
    reject(request.signal.reason);
  }
  return request.signal.aborted;
}

function send(base: string, reads: readonly Read[], ask: Ask): void {
  const [first] = reads;
  if (first === undefined) {
    return;
  }
  if (reads.length === 1) {
    first.resolve(ask(first.request));
    return;
  }
  const leaving = new AbortController();
  let n_left = reads.length;
  for (const read of reads) {
    read.request.signal.addEventListener("abort", () => {
      isGone(read);
      n_left -= 1;
      if (n_left === 0) {
        leaving.abort();
      }
    });
  }
  const request = new Request(new URL(`${base}/batch`, first.request.url), {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/json", "X-Normstat-Request": "1" },
    body: JSON.stringify({ get: reads.map(({ address }) => address) }),
    signal: leaving.signal,
  });
  const answers = splitAnswers(ask(request), reads.length);
  reads.forEach(({ request: read, resolve, reject }, index) => {
    const answer = answers[index];
    if (answer !== undefined) {
      orAlone(answer, read, ask).then(resolve, reject);
    }
  });
}

/** Return the answer to a read of a batch, or that to the read alone where the server knows no batches. */
export async function orAlone(answer: Promise<Response>, read: Request, ask: Ask): Promise<Response> {
  const own = await answer;
  return UNKNOWN.has(own.status) && own.headers.has(REFUSED) ? ask(read) : own;
}

/** Marks the answer to a read that is that of the whole batch. */
const REFUSED = "X-Batch-Refused";

/** Return the answers to the reads of a batch, each resolved when its line arrives. */
export function splitAnswers(batch: Promise<Response>, n: number): readonly Promise<Response>[] {
  const answers = Array.from({ length: n }, makeComing);
  const read = async (): Promise<void> => {
    const answer = await batch;
    const requestId = answer.headers.get("X-Request-Id") ?? "";
    const headers = { "Content-Type": "application/json", "X-Request-Id": requestId };
    if (!answer.ok) {
      const text = await answer.text();
      for (const { resolve } of answers) {
        resolve(new Response(text, { status: answer.status, headers: { ...headers, [REFUSED]: "1" } }));
      }
      return;
    }
    for await (const line of linesOf(answer.body)) {
      const [head, index = "", status = ""] = HEAD.exec(line) ?? [];
      if (head !== undefined) {
        answers[Number(index)]?.resolve(new Response(line.slice(head.length, -1), { status: Number(status), headers }));
      }
    }
    throw new TypeError("The answer ended before all reads were answered");
  };
  read().catch((reason: unknown) => {
    for (const { promise, reject } of answers) {
      // A read that was cancelled waits for nothing: its rejection is not an error of the page.
      promise.catch(() => undefined);
      reject(reason);
    }
  });
  return answers.map(({ promise }) => promise);
}

function makeComing(): Coming {
  let settle: Omit<Coming, "promise"> | undefined;
  const promise = new Promise<Response>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, resolve: (answer) => settle?.resolve(answer), reject: (reason) => settle?.reject(reason) };
}

/** Yield the lines of a text as they arrive, without their ends. */
export async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    const lines = (rest + (value ?? "")).split("\n");
    rest = done ? "" : (lines.pop() ?? "");
    yield* lines.filter((line) => line.trim() !== "");
    if (done) {
      return;
    }
  }
}
