-- Publishes a problem, which is open from then on. The arguments after the first `at - 1`: problem · subject · now, ms · event up to its sequence ·
-- event after its sequence · facts for its end.
local function publishNotice(notices, log, at, first)
  local problem, subject, now, before, after, facts = unpack(ARGV, at, at + 5)
  redis.call('HSET', notices, 'open ' .. problem, now, 'facts ' .. problem, facts)
  redis.call('XADD', log, '*', 'event', before .. countNotice(notices, subject, first) .. after)
end
