-- Appends an event to the log, as readers expect an entry (src/log/entry.ts). Returns its log id.
local function appendEvent(log, event, kind, subject)
  return redis.call('XADD', log, '*', 'event', event, 'type', kind, 'subject', subject)
end
