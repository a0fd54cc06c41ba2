import { createServer as createHttpServer } from "node:http";
import { createServer as createNetServer } from "node:net";

/**
 * Answers every request with one constant result: what requests cost below any JSON-RPC. A process of its own, started with the kind
 * (`http` or `net`) and the port. `net` takes each read for one complete request.
 */
const [kind, port] = process.argv.slice(2);
const body = '{"jsonrpc":"2.0","id":1,"result":"0x1"}';
const answer =
  "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: keep-alive\r\n" +
  `content-length: ${body.length}\r\n\r\n${body}`;

const server =
  kind === "http"
    ? createHttpServer((request, response) => {
        request.on("data", () => {});
        request.on("end", () => {
          const headers = { "content-type": "application/json", "content-length": body.length };
          response.writeHead(200, headers).end(body);
        });
      })
    : createNetServer((socket) => {
        socket.on("data", () => socket.write(answer, "latin1"));
        socket.on("error", () => socket.destroy());
      });
server.listen(Number(port), "127.0.0.1");
