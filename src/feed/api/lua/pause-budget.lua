--[[ pause-budget: after a 429, no process sends requests for the workspace for a while, and all learn how many requests were accepted
  before it.
  Atomic because: of two pauses the longer one must apply, whichever is set last; and of the refusals of one moment only the first counts:
  the requests behind it were sent before the processes knew.
  The clock is that of take-budget: `ends` - PTTL. A refusal is named by its time. A level above that of a recent refusal counts half: at
  times the server refuses the other client in place of us, and we are refused too late.
  KEYS 1 budget · 2 pause    ARGV 1 ms · 2 ms that belong to one refusal · 3 ms for which a refusal is recent
  RETURN {"paused", ms in force}    Cost O(1). Never calls TIME. ]]
--- @include "number"
local wanted = tonumber(ARGV[1])
local life = redis.call('PTTL', KEYS[1])
local ends, last, used, before, known = unpack(redis.call('HMGET', KEYS[1], 'ends', 'last', 'used', 'refusal', 'level'))
if life > 0 and ends then
  local now = math.max(number(last, 0), number(ends, 0) - life)
  local ago = now - number(before, -math.huge)
  if ago >= tonumber(ARGV[2]) then
    -- The refused request is among those used.
    local level = math.max(1, number(used, 1) - 1)
    known = number(known, level)
    if ago < tonumber(ARGV[3]) and level > known then level = math.floor((level + known) / 2) end
    redis.call('HSET', KEYS[1], 'refusal', string.format('%d', now), 'level', level)
  end
end
local left = redis.call('PTTL', KEYS[2])
if left >= wanted then return { 'paused', left } end
redis.call('SET', KEYS[2], '1', 'PX', wanted)
return { 'paused', wanted }
