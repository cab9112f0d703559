// What `exec` runs for each event. Exit codes: 0 done, 65 never again, anything else (75 by custom) later again.
let input = '';
for await (const part of process.stdin) input += part;
const event = JSON.parse(input);
if (event.data.after === null) process.exit(65);
console.log(`${event.type} ${event.subject}, try ${process.env.CHANGEFEED_ATTEMPT}`);
