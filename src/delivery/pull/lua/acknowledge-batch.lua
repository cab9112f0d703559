--[[ acknowledge-batch: the consumer has the batch under way: the offsets move to its end, and its receipts are kept.
  Atomic because: of two processes one may have handed out the next batch meanwhile, which nobody has acknowledged; and an offset that a person has set since the
  batch was read (replay, skip) stays.
  KEYS 1 pulled · 2 offsets · n × (receipts · open receipts)
  ARGV 1 id of the batch · 2 how many receipts are kept · n × (workspace · lines of receipts or "")
  RETURN "acknowledged" | "before": it is the last one that was | "other"    Cost O(n). Never calls TIME. ]]
--- @include "receipts"
local batch, last = unpack(redis.call('HMGET', KEYS[1], 'batch', 'acknowledged'))
if batch ~= ARGV[1] then return last == ARGV[1] and 'before' or 'other' end
for n = 1, (#ARGV - 2) / 2 do
  local workspace, lines = ARGV[2 * n + 1], ARGV[2 * n + 2]
  local from, to = string.match(redis.call('HGET', KEYS[1], 'in ' .. workspace) or '', '^(%S+) (%S+)')
  if from and redis.call('HGET', KEYS[2], workspace) == from then redis.call('HSET', KEYS[2], workspace, to) end
  if lines ~= '' then keepReceipts(KEYS[2 * n + 1], KEYS[2 * n + 2], lines, tonumber(ARGV[2]), false) end
  redis.call('HDEL', KEYS[1], 'in ' .. workspace)
end
redis.call('HDEL', KEYS[1], 'batch', 'after', 'taken', 'until', 'times')
redis.call('HSET', KEYS[1], 'acknowledged', ARGV[1])
return 'acknowledged'
