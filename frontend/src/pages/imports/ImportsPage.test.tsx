import { openPage, screen, test } from "../../testing";

test("without imports the page says what to do first", async ({ server }) => {
  server.on("GET /hosts", { hosts: [] });
  server.on("GET /specs", { specs: [] });
  server.on("GET /imports", { imports: [] });
  openPage("/imports");
  await screen.findByText("No imports yet");
});
