--[[ lane-drop: a dead letter is dropped; if it held the head of its lane, and nobody runs it, the lane moves on.
  Atomic because: between finding it held and removing it, somebody could have begun to run it again.
  KEYS 1 lanes · 2 pending · 3 holders · 4 revived
  ARGV 1 workspace · 2 lane · 3 place · 4 event id
  RETURN "dropped" | "none", id of the event now at the head or ""    Cost O(log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local PLACE_WIDTH = 35
local workspace, lane, id = ARGV[1], ARGV[2], ARGV[4]
local place = redis.call('HGET', KEYS[4], id) or ARGV[3]

local function head()
  return redis.call('ZRANGEBYLEX', KEYS[1], '[' .. lane .. SEP, '(' .. lane .. AFTER_SEP, 'LIMIT', 0, 1)[1]
end

local member = lane .. SEP .. place .. SEP .. id
local word = 'none'
if redis.call('ZSCORE', KEYS[1], member) and not (head() == member and redis.call('HEXISTS', KEYS[3], lane) == 1) then
  redis.call('ZREM', KEYS[1], member)
  redis.call('ZREM', KEYS[2], workspace .. SEP .. place)
  redis.call('HDEL', KEYS[4], id)
  word = 'dropped'
end
local now = head()
return { word, word == 'dropped' and now and string.sub(now, #lane + PLACE_WIDTH + 3) or '' }
