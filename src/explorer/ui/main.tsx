import { render } from "preact";

render(<main>Explorer</main>, document.getElementById("app")!);
