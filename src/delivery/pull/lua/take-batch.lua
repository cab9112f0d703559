--[[ take-batch: a batch of the log is under way to a consumer from now on; or what it does not select is passed over. Nothing else is under way then.
  Atomic because: of two processes that answer the same consumer one hands out; and a batch must have been read from where the offsets are now: another one
  was acknowledged meanwhile, or a person has set them.
  A batch that waits for longer than its visibility is over, and so is one whose end lies further ahead than that: the clock of Redis was set back. A consumer that
  acknowledges the same batch again has not got the one that followed it: that one is over too.
  KEYS 1 pulled · 2 offsets
  ARGV 1 id of the batch, "" to pass over · 2 visibility, ms; 0: whatever was handed out is still under way · 3 id acknowledged with the question, or ""
       4 … n × (workspace · log id from · to · first event, or "" · number of events)
  RETURN "taken" | "busy" | "moved"    Cost O(n). Calls TIME: the clock of Redis is the only one that all processes share. ]]
local seconds, micros = unpack(redis.call('TIME'))
local now = tonumber(seconds) * 1000 + math.floor(tonumber(micros) / 1000)
local batch, untilMs, after = unpack(redis.call('HMGET', KEYS[1], 'batch', 'until', 'after'))
-- Its reply was lost, and the client has sent it again.
if batch and batch == ARGV[1] then return 'taken' end
local leftMs = tonumber(untilMs or 0) - now
local isUnderWay = batch and (ARGV[2] == '0' or (leftMs > 0 and leftMs <= tonumber(ARGV[2])))
if isUnderWay and not (ARGV[3] ~= '' and after == ARGV[3]) then return 'busy' end
for at = 4, #ARGV, 5 do
  if redis.call('HGET', KEYS[2], ARGV[at]) ~= ARGV[at + 1] then return 'moved' end
end
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 3) == 'in ' then redis.call('HDEL', KEYS[1], field) end
end
if ARGV[1] == '' then
  redis.call('HDEL', KEYS[1], 'batch', 'after', 'taken', 'until')
  for at = 4, #ARGV, 5 do redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 2]) end
  return 'taken'
end
redis.call('HSET', KEYS[1], 'batch', ARGV[1], 'after', ARGV[3], 'taken', now, 'until', now + tonumber(ARGV[2]))
redis.call('HINCRBY', KEYS[1], 'times', 1)
for at = 4, #ARGV, 5 do
  redis.call('HSET', KEYS[1], 'in ' .. ARGV[at], table.concat({ unpack(ARGV, at + 1, at + 4) }, ' '))
end
return 'taken'
