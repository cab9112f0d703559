-- Publishes a problem, which is open from then on. The arguments after the first `at - 1`: problem · subject · now, ms · event up to its sequence ·
-- event after its sequence · type of the event · facts for its end.
local function publishNotice(notices, log, at, first)
  local problem, subject, now, before, after, kind, facts = unpack(ARGV, at, at + 6)
  redis.call('HSET', notices, 'open ' .. problem, now, 'facts ' .. problem, facts)
  appendEvent(log, before .. countNotice(notices, subject, first) .. after, kind, subject)
end
