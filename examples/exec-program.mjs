// Run by exec.config.ts, or by hand: echo '{"type":"x","subject":"1","data":{"after":{}}}' | node examples/exec-program.mjs
// `exec` runs this program for each event. Exit codes: 0 handled, 65 do not retry, any other (by convention 75) retry later.
let input = '';
for await (const part of process.stdin) input += part;
const event = JSON.parse(input);
if (event.data.after === null) process.exit(65);
console.log(`${event.type} ${event.subject}, try ${process.env.CHANGEFEED_ATTEMPT}`);
