import { listArguments, wholeNumber, workspaceOption } from '../arguments.js';
import { defineFeedCommand, flag, option, optionWithDefault } from '../command.js';
import { probeText } from '../print-probe.js';

export const probe = defineFeedCommand({
  input: {
    lists: listArguments('only these lists'),
    requests: optionWithDefault(option('number', 'the most requests', wholeNumber({ least: 1, most: 10_000 })), 40),
    workspace: workspaceOption('the workspace, if there are several'),
    json: flag('print it as JSON'),
  },
  async run({ lists, requests, workspace, json = false }, { feed }, io) {
    const report = await feed.lists.probe({ lists, requests, workspace, signal: io.signal });
    io.out(json ? JSON.stringify(report) : probeText(report, io.colours.out, io.columns));
    return report.lists.length > 0 ? 0 : 1;
  },
});
