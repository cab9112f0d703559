import { workspaceOption } from '../arguments.js';
import { defineFeedCommand, flag } from '../command.js';
import { fitted } from '../text.js';

/** No process has seen what Redis had before the backup was restored: so a person says it. */
export const rewound = defineFeedCommand({
  input: {
    workspace: workspaceOption('only this workspace'),
    json: flag('print the outcome as JSON'),
  },
  async run({ workspace, json = false }, { feed, decided }, io) {
    const rewound = await feed.rewound(workspace);
    decided('rewound', { workspace, count: Object.values(rewound).filter((range) => range !== null).length });
    if (json) {
      io.out(JSON.stringify(rewound));
      return;
    }
    for (const [name, range] of Object.entries(rewound)) {
      const text =
        range === null
          ? `Workspace "${name}" has no state: nothing was changed.`
          : `Workspace "${name}": sequences go on far above all that were given out, and every list is swept again. ` +
            `What was written after ${range.from} may be gone.`;
      io.out(fitted(text, io.columns));
    }
  },
});
